/** Reads the tags of a run where the protocol of its door has no place for them. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject } from '../../kernel/json-object.ts'
import { refuseField } from '../../kernel/refusal.ts'

type Tags = Record<string, string>

const most = 8
const header = 'x-counterfoil-tags'

/**
 * The tags of `X-Counterfoil-Tags: task=42,team=search`, and of OpenAI's `metadata` as far as there
 * is room for its texts beside them.
 * @throws Refusal `invalid_request` for a header that cannot be read
 */
export function readTags(request: Request, metadata: Json | undefined): Tags {
  const text = request.headers.get(header)
  const tags = text === null ? {} : readHeader(text)
  if (!isObject(metadata)) return tags
  for (const [name, value] of Object.entries(metadata)) {
    if (Object.keys(tags).length >= most) break
    const isTag = typeof value === 'string' && value.length <= 256
    if (isTag && /^[^:]{1,64}$/.test(name) && !Object.hasOwn(tags, name)) tags[name] = value
  }
  return tags
}

/**
 * The tags of the header and those that the body has a place for, which win.
 * @throws Refusal `invalid_request` for a header that cannot be read, or too many tags
 */
export function tagsBeside(request: Request, own: Tags = {}): Tags {
  if (!request.headers.has(header)) return own
  return atMost({ ...readTags(request, undefined), ...own })
}

function readHeader(text: string): Tags {
  const pairs = text.split(',').map((pair) => pair.split('=').map((side) => side.trim()))
  const tags: Tags = {}
  for (const [name = '', value, ...more] of pairs) {
    const isTag = /^[^:\s]{1,64}$/.test(name) && value !== undefined && more.length === 0
    if (!isTag || value.length > 256) {
      refuseField(
        header,
        'Write X-Counterfoil-Tags as name=value, name=value; a name holds no colon.',
      )
    }
    tags[name] = value
  }
  return atMost(tags)
}

function atMost(tags: Tags): Tags {
  if (Object.keys(tags).length <= most) return tags
  refuseField(header, `A run has at most ${most} tags.`)
}
