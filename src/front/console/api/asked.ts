/** Reads a question to the console. */
import type { Deps } from '../../../app/deps-port.ts'
import type { Json } from '../../../kernel/canonical.ts'
import { isId } from '../../../kernel/ids.ts'
import { refuse } from '../../../kernel/refusal.ts'
import type { Model } from '../../../models/model.ts'
import type { JsonObject } from '../../../models/upstream/upstream.ts'
import { toOpenAi } from '../../../runs/api/native.ts'
import { findModel } from '../../../runs/openai.ts'
import { parseSound } from '../../../web/http/body.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { type Fields, readFields } from '../../../web/http/fields.ts'
import { askBody, turnsBody } from '../shapes.ts'
import { type Ask, messagesOf, type Turn, usualTokensOf } from '../talk.ts'

/** The fields of the page's form, as they are shown again when something is wrong with them. */
export type Draft = {
  model: string
  input: string
  max_output_tokens: string
  temperature: string
  system: string
  turns: Turn[]
}

/** A body that was read: what its receipt commits to, and the fields to show again. */
export type Asked = { received: Json; isForm: boolean; draft: Draft }

/** Reads a form or JSON; what is in it is for {@link toAsk} to judge. */
export async function readAsked(request: Request, limitBytes: number): Promise<Asked> {
  const { value, isForm }: Fields = await readFields(request, { limitBytes })
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
    turns: isForm ? readTurns(textAt('turns')) : [],
  }
  return { received: value, isForm, draft }
}

/** @throws Refusal `invalid_request` with `param`. */
export function toAsk(
  { catalogue }: Pick<Deps, 'catalogue'>,
  { received, isForm, draft }: Asked,
): Ask {
  const usual = usualTokensOf(catalogue.get(draft.model)?.maxOutputTokens ?? 1)
  const body = checkBody(askBody, isForm ? fromForm(draft, usual) : received)
  if (body.input.trim() === '') {
    refuse('invalid_request', { param: 'input', message: 'Write a message first.' })
  }
  return body as Ask
}

/**
 * The model that is asked, and the request in OpenAI's shape.
 * @throws Refusal `model_not_found`, or `invalid_request` with `param`.
 */
export function toRequest(
  deps: Pick<Deps, 'catalogue'>,
  ask: Ask,
): { model: Model; body: JsonObject } {
  const model = findModel(deps, { model: ask.model })
  if (model.kind !== 'chat') {
    refuse('invalid_request', { param: 'model', message: 'One cannot talk to this model.' })
  }
  const { max_output_tokens, params = {} } = ask
  const limit = max_output_tokens === undefined ? {} : { max_output_tokens }
  const body = toOpenAi(model, { model: model.id, messages: messagesOf(ask), params, ...limit })
  return { model, body }
}

/** A form's fields in the shape of the JSON body; what is left empty is left out, or `usual`. */
function fromForm(draft: Draft, usual: number): object {
  const { model, input, system, turns } = draft
  const most = numberOf('max_output_tokens', draft.max_output_tokens, /^\d{1,9}$/)
  const temperature = numberOf('temperature', draft.temperature, /^\d(\.\d{1,6})?$/)
  return {
    model,
    input,
    max_output_tokens: most ?? usual,
    ...(temperature === undefined ? {} : { params: { temperature } }),
    ...(system === '' ? {} : { system }),
    turns,
  }
}

function numberOf(param: string, text: string, form: RegExp): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (form.test(trimmed)) return Number(trimmed)
  const message = `"${param}" is a number, such as ${param === 'temperature' ? '0.7' : '512'}.`
  refuse('invalid_request', { param, message })
}

/** Reads the hidden field of the page and skips turns that the page cannot have written. */
function readTurns(text: string): Turn[] {
  if (text === '') return []
  try {
    const read = checkBody(turnsBody, parseSound(text))
    return read.map(({ input, output, receipt_id: id }) => ({
      input,
      output,
      ...(id !== undefined && isId('rcpt', id) ? { receipt_id: id } : {}),
    }))
  } catch {
    refuse('invalid_request', {
      param: 'turns',
      message: 'The talk so far cannot be read. Start a new one.',
    })
  }
}
