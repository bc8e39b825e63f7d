/** Every area of the reference, in the order of its pages. */
import type { Schema, Schemas } from '../../../web/http/json-schema.ts'
import { spellShapes } from '../../../web/http/json-schema.ts'
import type { TSchema } from '../../../web/http/shape.ts'
import type { Area, Operation } from '../operation.ts'
import { accountArea } from './account-area.ts'
import { consoleArea } from './console-area.ts'
import { explorerArea } from './explorer-area.ts'
import { keysArea } from './keys-area.ts'
import { logArea } from './log-area.ts'
import { mcpArea } from './mcp-area.ts'
import { membersArea } from './members-area.ts'
import { moneyArea } from './money-area.ts'
import { openaiArea } from './openai-area.ts'
import { operatorApiArea } from './operator-api-area.ts'
import { operatedArea, operatorArea } from './operator-area.ts'
import { operatorFiguresArea } from './operator-figures-area.ts'
import { ownKeysArea } from './own-keys-area.ts'
import { ownMoneyArea, ownPlansArea } from './own-money-area.ts'
import { ownPassportsArea } from './own-passports-area.ts'
import { ownReceiptsArea, ownRunsArea } from './own-runs-area.ts'
import { ownWebhooksArea } from './own-webhooks-area.ts'
import { passportsArea } from './passports-area.ts'
import { messagesArea, responsesArea } from './protocols-area.ts'
import { quotesArea } from './quotes-area.ts'
import { receiptsArea } from './receipts-area.ts'
import { runsArea } from './runs-area.ts'
import { serviceArea } from './service-area.ts'
import { signInArea } from './sign-in-area.ts'
import { terminalArea } from './terminal-area.ts'
import { usageArea } from './usage-area.ts'
import { webhooksArea } from './webhooks-area.ts'

/** The whole reference, in the order of its pages. A new route is one entry in its area. */
const written: readonly Area<TSchema>[] = [
  openaiArea,
  messagesArea,
  responsesArea,
  runsArea,
  quotesArea,
  keysArea,
  receiptsArea,
  logArea,
  usageArea,
  moneyArea,
  webhooksArea,
  explorerArea,
  passportsArea,
  terminalArea,
  mcpArea,
  operatorApiArea,
  operatorFiguresArea,
  serviceArea,
  signInArea,
  accountArea,
  membersArea,
  ownKeysArea,
  ownRunsArea,
  ownReceiptsArea,
  consoleArea,
  ownMoneyArea,
  ownPlansArea,
  ownPassportsArea,
  ownWebhooksArea,
  operatorArea,
  operatedArea,
]

const found: Record<string, Schema> = {}

/** The same with JSON Schema: each shape stands with the area that names it first. */
export const areas: readonly Area[] = written.map((area) => {
  const known = new Set(Object.keys(found))
  const spelled = spellShapes(area, found) as unknown as Area
  const own = Object.entries(found).filter(([name]) => !known.has(name))
  return { ...spelled, schemas: Object.fromEntries(own) }
})

export const operations: readonly Operation[] = areas.flatMap((area) => area.operations)

export const schemas: Schemas = Object.assign({}, ...areas.map((area) => area.schemas))
