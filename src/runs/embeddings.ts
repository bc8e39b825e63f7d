/** Reads the vectors that a model server answers with. */
import { hasCanonicalForm } from '../kernel/canonical.ts'
import { type JsonObject, UpstreamFailure } from '../models/upstream/upstream.ts'
import { nothingCame, objects } from './answer.ts'
import type { CollectedAnswer } from './ending.ts'

/** The members of a vector; others would be output that an embedding has no price for. */
const vectorMembers = new Set(['object', 'index', 'embedding'])

export function readEmbeddings(body: JsonObject): CollectedAnswer {
  const data = objects(body['data']).map(toVector)
  // No receipt could commit to a number beyond a double or to half a surrogate pair.
  if (!hasCanonicalForm(data)) throw new UpstreamFailure('error')
  return { ...nothingCame, choices: data, usage: body['usage'], tier: body['service_tier'] }
}

function toVector(item: JsonObject): JsonObject {
  const names = Object.keys(item)
  if (names.every((name) => vectorMembers.has(name))) return item
  return Object.fromEntries(Object.entries(item).filter(([name]) => vectorMembers.has(name)))
}
