/** The commands that an agent begins with. */

import type { Operation } from '../../web/reference/operation.ts'
import { operations } from './areas.ts'
import { curlOf } from './curl.ts'

/** A command, with a line on what it needs where that is more than a key. */
export type FirstStep = { title: string; about?: string; command: string }

/** The commands that an agent begins with, in the order in which each needs what came before. */
export const firstSteps = (baseUrl: string): FirstStep[] => [
  { title: 'Check the budget', command: commandOf('showSelf', baseUrl) },
  { title: 'Run a model', command: commandOf('createChatCompletion', baseUrl) },
  {
    title: 'Verify its receipt, which is at receipt.url of the answer',
    command: [
      'curl -s -H "Authorization: Bearer $COUNTERFOIL_KEY" "$RECEIPT_URL" > run.receipt.json',
      `curl '${baseUrl}/v1/receipts/verify' -H 'Content-Type: application/json' \\`,
      '  --data-binary @run.receipt.json',
    ].join('\n'),
  },
  {
    title: 'Verify it offline',
    about:
      'Without this server: get the address of its signer (`GET /v1/signer`) from another source ' +
      'that you trust, and put it into COUNTERFOIL_SIGNER.',
    command: 'counterfoil verify run.receipt.json --signer "$COUNTERFOIL_SIGNER" --json',
  },
  {
    title: 'Make a key for another agent',
    about:
      'Needs the scope `keys:mint`. What it spends counts against your cap too. `secret` is in ' +
      'this answer and nowhere else.',
    command: commandOf('mintKey', baseUrl),
  },
]

function commandOf(id: string, baseUrl: string): string {
  const operation = operations.find((one) => one.id === id)
  const example = operation?.examples[0]
  if (!operation || !example) throw new Error(`the reference has no ${id}`)
  return curlOf(operation satisfies Operation, example, baseUrl)
}
