/** Takes files for a message of the console: chosen, pasted or dropped. */
import {
  boundsFault,
  charsOf,
  type FileTokens,
  filesFault,
  filesHint,
  type SentFile,
  takenText,
  tidyName,
  tooLarge,
  unknownFile,
} from '../front/console/files.ts'
import { mediaTypeOf } from '../models/media-types.ts'
import { preview } from './console-parts.ts'
import { byId, element } from './dom.ts'

/** The model that is chosen, and what it reads of files at most. */
export type ChosenFile = { name: string; tokens: FileTokens }

/** The composer's message when files of earlier turns are in the way. */
type Question = { earlier: readonly SentFile[] }

/**
 * The files of the next message, shown with a button each to remove them.
 * @param changed called after files came or went
 */
export function filePicker(chosen: () => ChosenFile, changed: () => void) {
  const area = byId('attach', HTMLElement)
  const field = byId('files', HTMLInputElement)
  const list = byId('chosen', HTMLElement)
  const hint = byId('files-hint', HTMLElement)
  const fault = byId('files-fault', HTMLElement)
  const room = Number(area.dataset['room'])
  let files: SentFile[] = []

  const tell = (message: string | undefined): void => {
    fault.textContent = message ?? ''
  }
  const show = (): void => {
    list.replaceChildren(...files.map(itemOf))
    list.hidden = files.length === 0
    changed()
  }
  const itemOf = (file: SentFile): HTMLElement => {
    const label = `Remove ${file.name}`
    const remove = element('button', { type: 'button', class: 'drop-it', 'aria-label': label }, '×')
    remove.addEventListener('click', () => {
      files = files.filter((one) => one !== file)
      tell(undefined)
      show()
      field.focus()
    })
    return element('li', {}, preview(file), remove)
  }
  const add = async (from: readonly File[]): Promise<void> => {
    let refused: string | undefined
    for (const file of from) {
      const next = await readFile(file, room)
      const problem = typeof next === 'string' ? next : boundsFault([...files, next], room)
      if (problem !== undefined) refused ??= problem
      else if (typeof next !== 'string') files = [...files, next]
    }
    show()
    const { name, tokens } = chosen()
    tell(refused ?? filesFault(name, tokens, files))
  }

  field.addEventListener('change', () => {
    void add([...(field.files ?? [])])
    field.value = ''
  })
  document.addEventListener('paste', (event) => {
    const pasted = pastedFiles(event.clipboardData)
    if (pasted.length === 0) return
    event.preventDefault()
    void add(pasted)
  })
  takeDrops(area, (dropped) => void add(dropped))

  return {
    list: (): readonly SentFile[] => files,
    chars: (): number => charsOf(files),
    room,
    /** Puts other files there: none after a message went out, its own after it failed. */
    put(next: readonly SentFile[]): void {
      files = [...next]
      tell(undefined)
      show()
    },
    /** Says what the chosen model takes. */
    describe(): void {
      const { name, tokens } = chosen()
      hint.textContent = filesHint(name, tokens, room)
      field.disabled = takenText(tokens) === ''
      tell(filesFault(name, tokens, files))
    },
    /** Whether the model takes all files; if not, says why. */
    check({ earlier }: Question): boolean {
      const { name, tokens } = chosen()
      const problem = filesFault(name, tokens, files, earlier)
      tell(problem)
      return problem === undefined
    },
  }
}

/** A file as it is sent, or why it cannot be. */
async function readFile(file: File, room: number): Promise<SentFile | string> {
  const name = tidyName(file.name)
  // A file that is far too large is not read at all.
  if (file.size > room) return tooLarge(name, file.size, room)
  const bytes = new Uint8Array(await file.slice(0, 16).arrayBuffer())
  const type = mediaTypeOf(String.fromCharCode(...bytes))
  if (type === undefined) return unknownFile(name)
  const url = await readUrl(file)
  return { name, data: `data:${type};base64,${url.slice(url.indexOf(',') + 1)}` }
}

const readUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(reader.error))
    reader.readAsDataURL(file)
  })

/** Files on the clipboard. Word processors put a picture beside text: then the text is meant. */
function pastedFiles(clipboard: DataTransfer | null): File[] {
  const files = [...(clipboard?.files ?? [])]
  const text = clipboard?.getData('text/plain').trim() ?? ''
  const isName = text === '' || files.some(({ name }) => text.includes(name))
  return isName ? files : []
}

/** A file may be dropped anywhere: elsewhere than here it would replace the page. */
function takeDrops(area: HTMLElement, take: (files: File[]) => void): void {
  const isFile = ({ dataTransfer }: DragEvent): boolean =>
    dataTransfer?.types.includes('Files') ?? false
  const mark = (isOver: boolean): unknown => area.classList.toggle('over', isOver)
  document.addEventListener('dragover', (event) => {
    if (!isFile(event)) return
    event.preventDefault()
    mark(true)
  })
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) mark(false)
  })
  document.addEventListener('drop', (event) => {
    mark(false)
    if (!isFile(event)) return
    event.preventDefault()
    take([...(event.dataTransfer?.files ?? [])])
  })
}
