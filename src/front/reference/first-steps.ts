/** The three commands that an agent begins with. */
import { operations } from './areas/areas.ts'
import { curlOf } from './curl.ts'
import type { Operation } from './operation.ts'

/** The three commands that an agent begins with. */
export const firstSteps = (baseUrl: string): { title: string; command: string }[] => [
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
]

function commandOf(id: string, baseUrl: string): string {
  const operation = operations.find((one) => one.id === id)
  const example = operation?.examples[0]
  if (!operation || !example) throw new Error(`the reference has no ${id}`)
  return curlOf(operation satisfies Operation, example, baseUrl)
}
