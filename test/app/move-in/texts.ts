/** Exports as files, and rows of LiteLLM with all columns that limit. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Gateway, readSource, type SourceWish } from '../../../src/cli/move-in/read-source.ts'
import { tokenOf, unlimited } from './fixtures.ts'
import { now } from './plans.ts'

type Texts = readonly (string | object)[]

/** What an import reads of texts, each in a file. */
export async function readAs(wish: Omit<SourceWish, 'now'>, ...texts: Texts) {
  const folder = mkdtempSync(join(tmpdir(), 'move-in-'))
  const names = texts.map((text, at) => {
    const name = join(folder, `source-${at}`)
    writeFileSync(name, typeof text === 'string' ? text : JSON.stringify(text))
    return name
  })
  try {
    return await readSource(names, { ...wish, now })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const readTexts = (gateway: Gateway, ...texts: Texts) => readAs({ gateway }, ...texts)

/** A row of a key. */
export const key = (n: number, more: object = {}) => ({
  ...{ token: tokenOf(n), key_alias: `k${n}`, spend: 0, blocked: false, models: [] },
  ...{ ...unlimited, expires: null, user_id: null, team_id: null, budget_id: null },
  ...{ allowed_routes: [], ...more },
})
export const budget = (budget_id: string, more: object) => ({ ...unlimited, budget_id, ...more })
export const user = (user_id: string, more: object = {}) => ({
  ...{ ...unlimited, user_id, spend: 0, models: [], ...more },
})
export const team = (team_id: string, more: object = {}) => ({
  ...{ ...unlimited, team_id, spend: 0, models: [], blocked: false, metadata: {}, ...more },
})
