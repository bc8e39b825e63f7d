/** Adds its cost to an answer, in protocols that have no place for it themselves. */
import type { Json } from '../../kernel/canonical.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import type { Usage } from '../../models/meter.ts'
import { toReceiptLink } from '../openai.ts'
import type { FinishedRun } from '../settlement.ts'

/** The usage, and the member `counterfoil`: the receipt and the cost. */
export function paidOf(
  done: FinishedRun & { usage: Usage },
  links: { baseUrl: string },
): { usage: Usage; counterfoil: Json } {
  const receipt = toReceiptLink(done, links)
  return { usage: done.usage, counterfoil: { receipt, cost_nusd: toJsonInteger(done.run.cost) } }
}
