import { type Retention, retentionMs } from '../../src/storage/texts/retention.ts'
import { accountIn, type Model, type ModelRun, must } from './model.ts'

/** What is kept of runs for a while: outputs of those in the background, and texts. */

/** How a run ended, as far as that decides what is kept of it. */
export type RunEnd = {
  now: number
  status: 'succeeded' | 'failed' | 'cancelled' | 'interrupted'
  /** What it said; null for nothing at all, which a whole answer never is. */
  letters: number | null
  /** Whether the process that ran it ended it, which alone knows its texts. */
  byItself: boolean
}

/** A run in the background, from its 202 on. */
export type ModelBackground = {
  key: string
  status: 'queued' | 'running' | RunEnd['status']
  letters: number | null
  /** When its output may be forgotten; null where there is none. */
  until: number | null
}

export type ModelText = { account: string; until: number; letters: number | null }

const outputKeptMs = 3_600_000

export function keepOfRun(m: Model, run: ModelRun, end: RunEnd): void {
  const { now, letters, status } = end
  const background = m.background.get(run.id)
  if (background) {
    const until = letters === null ? null : now + outputKeptMs
    Object.assign(background, { status, letters, until })
  }
  const { retention } = accountIn(m, run.account)
  if (!end.byItself || !run.wanted || retention === 'none') return
  m.texts.set(run.id, { account: run.account, until: now + retentionMs[retention], letters })
}

/** A shorter time also holds for what is kept already. */
export function judgeRetention(m: Model, id: string, retention: Retention, now: number): string {
  const account = accountIn(m, id)
  if (account.retention === retention) return 'ok'
  account.retention = retention
  const latest = now + retentionMs[retention]
  if (retention === 'none') return 'ok'
  for (const text of m.texts.values()) {
    if (text.account === id) text.until = Math.min(text.until, latest)
  }
  return 'ok'
}

/** Anyone who wants nothing kept has nothing kept when that was answered. */
export function dropTexts(m: Model, account: string): void {
  for (const [id, text] of m.texts) if (text.account === account) m.texts.delete(id)
}

/** The job that forgets what was kept long enough. */
export function judgeTidy(m: Model, what: 'outputs' | 'texts' | 'calls', now: number): string {
  if (what === 'texts') {
    for (const [id, { until }] of m.texts) if (until <= now) m.texts.delete(id)
  } else if (what === 'calls') {
    for (const [scope, { until }] of m.calls) if (until <= now) m.calls.delete(scope)
  } else {
    for (const one of m.background.values()) {
      if (one.until !== null && one.until < now) Object.assign(one, { letters: null, until: null })
    }
  }
  return 'ok'
}

/** What `GET /v1/runs/:id` says of a run in the background. */
export function pollOf(m: Model, id: string): string {
  const { status, letters } = must(m.background.get(id))
  return `${status} ${m.ended.get(id) ?? 0n} ${letters ?? 'nothing'}`
}
