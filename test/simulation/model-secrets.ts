import { chainIn, type Model, must } from './model.ts'

/** A secret of a key; no one has it whose rotation was never answered. */
export type ModelSecret = { secret: string | undefined; until: number | null }

const maxOverlapMs = 604_800_000

/**
 * Another secret for a key: the one before works until the overlap is over, the one before that
 * ends now if it had not ended.
 */
export function judgeRotate(
  m: Model,
  id: string,
  wish: { secret: string | undefined; overlapMs: number; from: string | undefined },
  now: number,
): string {
  const { secret, overlapMs, from } = wish
  if (overlapMs < 0 || overlapMs > maxOverlapMs) return 'invalid_request'
  if (chainIn(m, id).some(({ revoked }) => revoked)) return 'conflict'
  const { secrets } = must(m.keys.get(id))
  const newest = must(secrets.at(-1))
  if (from !== undefined && from !== newest.secret) return 'conflict'
  for (const old of secrets) {
    old.until = old.until === null ? now + overlapMs : Math.min(old.until, now)
  }
  secrets.push({ secret, until: null })
  return 'ok'
}

/** The secret that a key has now, if someone has it. */
export const secretOf = (m: Model, id: string): string | undefined =>
  m.keys.get(id)?.secrets.at(-1)?.secret
