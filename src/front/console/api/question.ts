/** Reads a question to the console. */
import type { Deps } from '../../../app/deps-port.ts'
import type { Json } from '../../../kernel/canonical.ts'
import { isId } from '../../../kernel/ids.ts'
import { Refusal, refuse, refuseField } from '../../../kernel/refusal.ts'
import { mediaTypeOf } from '../../../models/media-types.ts'
import type { Model } from '../../../models/model.ts'
import type { JsonObject } from '../../../models/upstream/upstream.ts'
import { toOpenAi } from '../../../runs/api/native.ts'
import { findModel } from '../../../runs/openai.ts'
import { parseSound } from '../../../web/http/body.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type FormFile, readFieldsAndFiles } from '../../../web/http/fields.ts'
import {
  boundsFault,
  bytesIn,
  filesFault,
  keptName,
  maxFiles,
  roomIn,
  type SentFile,
  sizeText,
  tidyName,
  unknownFile,
} from '../files.ts'
import { askBody, fileBody, turnsBody } from '../shapes.ts'
import {
  type ConsoleQuestion,
  earlierFiles,
  messagesOf,
  type Turn,
  usualTokensOf,
} from '../talk.ts'
import { fileTokensOf } from '../tariff.ts'

/** The fields of the page's form, as they are shown again when something is wrong with them. */
export type Draft = {
  model: string
  input: string
  max_output_tokens: string
  temperature: string
  system: string
  files: SentFile[]
  turns: Turn[]
}

/** A body that was read: what its receipt commits to, and the fields to show again. */
export type Question = {
  received: Json
  isForm: boolean
  draft: Draft
  /** The name of the form that the page wrote: the same in each request that sends it. */
  once: string
  /** Why its files cannot be sent. */
  fault?: Refusal
}

/** Reads a form, with or without files, or JSON; what is in it is for {@link toAsk} to judge. */
export async function readQuestion(request: Request, limitBytes: number): Promise<Question> {
  const { value, isForm, files, isCut } = await readFieldsAndFiles(request, { limitBytes })
  const fields = (value ?? {}) as JsonObject
  const textAt = (name: string): string => {
    const field = fields[name]
    return typeof field === 'string' ? field : ''
  }
  const draft = {
    model: textAt('model'),
    input: textAt('input'),
    max_output_tokens: textAt('max_output_tokens'),
    temperature: textAt('temperature'),
    system: textAt('system'),
    files: isForm ? keptFiles(textAt) : [],
    turns: isForm ? readTurns(textAt('turns')) : [],
  }
  const chosen = files.filter(({ field }) => field === 'files')
  const asked = { received: value, isForm, draft, once: textAt('once') }
  if (isCut) return { ...asked, fault: tooLargeForm(limitBytes) }
  if (chosen.length === 0) return asked
  try {
    draft.files = withChosen(draft.files, chosen, limitBytes)
    return { ...asked, received: { ...fields, files: draft.files } }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ...asked, fault: error }
  }
}

function tooLargeForm(limitBytes: number): Refusal {
  const most = sizeText(bytesIn(roomIn(limitBytes)))
  const message = `The files are too large: ${most} fit, with those of earlier messages.`
  const metadata = { limit_bytes: limitBytes }
  return new Refusal('payload_too_large', { param: 'files', message, metadata })
}

/** @throws Refusal `invalid_request` for a file of another type, too many or too large ones. */
function withChosen(
  kept: readonly SentFile[],
  chosen: readonly FormFile[],
  limitBytes: number,
): SentFile[] {
  const files = [...kept, ...chosen.map(toSentFile)]
  const fault = boundsFault(files, roomIn(limitBytes))
  if (fault !== undefined) refuseField('files', fault)
  return files
}

/** The files that the page shows again, each with a box that is ticked while it is to be sent. */
function keptFiles(textAt: (name: string) => string): SentFile[] {
  const texts = Array.from({ length: maxFiles }, (_, at) => textAt(keptName(at)))
  return texts.filter(Boolean).map((text) => {
    const { name, data } = checkBody(fileBody, parseSound(text))
    return { name: tidyName(name), data }
  })
}

function toSentFile({ name, bytes }: FormFile): SentFile {
  const tidy = tidyName(name)
  const type = mediaTypeOf(Buffer.from(bytes.subarray(0, 16)).toString('latin1'))
  if (type === undefined) {
    refuse('invalid_request', { param: 'files', message: unknownFile(tidy) })
  }
  return { name: tidy, data: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` }
}

/** @throws Refusal `invalid_request` with `param`. */
export function toAsk(
  { catalogue }: Pick<Deps, 'catalogue'>,
  { received, isForm, draft, fault }: Question,
): ConsoleQuestion {
  if (fault) throw fault
  const usual = usualTokensOf(catalogue.get(draft.model)?.maxOutputTokens ?? 1)
  const body = checkBody(askBody, isForm ? fromForm(draft, usual) : received)
  if (body.input.trim() === '') {
    refuseField('input', 'Write a message first.')
  }
  return body as ConsoleQuestion
}

/**
 * The model that is asked, and the request in OpenAI's shape.
 * @throws Refusal `model_not_found`, or `invalid_request` with `param`.
 */
export function toRequest(
  deps: Pick<Deps, 'catalogue'>,
  ask: ConsoleQuestion,
): { model: Model; body: JsonObject } {
  const model = findModel(deps, { model: ask.model })
  if (model.kind !== 'chat') {
    refuseField('model', 'This model does not take chat messages.')
  }
  const fault = filesFault(model.id, fileTokensOf(model), ask.files ?? [], earlierFiles(ask))
  if (fault !== undefined) refuseField('files', fault)
  const { max_output_tokens, params = {} } = ask
  const limit = max_output_tokens === undefined ? {} : { max_output_tokens }
  const body = toOpenAi(model, { model: model.id, messages: messagesOf(ask), params, ...limit })
  return { model, body }
}

/** A form's fields in the shape of the JSON body; what is left empty is left out, or `usual`. */
function fromForm(draft: Draft, usual: number): object {
  const { model, input, system, files, turns } = draft
  const most = numberOf('max_output_tokens', draft.max_output_tokens, /^\d{1,9}$/)
  const temperature = numberOf('temperature', draft.temperature, /^\d(\.\d{1,6})?$/)
  return {
    model,
    input,
    max_output_tokens: most ?? usual,
    ...(temperature === undefined ? {} : { params: { temperature } }),
    ...(system === '' ? {} : { system }),
    ...(files.length === 0 ? {} : { files }),
    turns,
  }
}

function numberOf(param: string, text: string, form: RegExp): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (form.test(trimmed)) return Number(trimmed)
  refuseField(param, `"${param}" is a number, such as ${param === 'temperature' ? '0.7' : '512'}.`)
}

/** Reads the hidden field of the page and skips turns that the page cannot have written. */
function readTurns(text: string): Turn[] {
  if (text === '') return []
  try {
    const read = checkBody(turnsBody, parseSound(text))
    return (read as Turn[]).map(({ receipt_id: id, ...turn }) => ({
      ...turn,
      ...(id !== undefined && isId('rcpt', id) ? { receipt_id: id } : {}),
    }))
  } catch {
    refuseField('turns', 'The conversation cannot be read. Start a new one.')
  }
}
