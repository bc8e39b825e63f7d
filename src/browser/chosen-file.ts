/** Takes the text of a file that is chosen or dropped on a page that checks it. */
import { byId } from './dom.ts'

/** Puts the text of the file into the field `text`, and then checks it. */
export function readChosenFile(check: () => void): void {
  const text = byId('text', HTMLTextAreaElement)
  const file = byId('file', HTMLInputElement)
  const drop = byId('drop', HTMLElement)

  const take = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return
    text.value = await chosen.text()
    check()
  }

  file.addEventListener('change', () => void take(file.files?.[0]))
  // Also beside the field: a browser would leave this page and show the file.
  document.addEventListener('dragover', (event) => {
    event.preventDefault()
    drop.classList.add('over')
  })
  document.addEventListener('dragleave', () => drop.classList.remove('over'))
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    drop.classList.remove('over')
    void take(event.dataTransfer?.files[0])
  })
}
