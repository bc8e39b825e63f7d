/** What a trouble of the service is, of which the operator is told. */
import type { Json } from '../../kernel/canonical.ts'
import type { OperatorEventType } from '../../storage/outbox/event.ts'

/** Something that is wrong or not. `began` is told when it comes to be, `ended` when it is over. */
export type Trouble = {
  name: string
  isThere: boolean
  began: OperatorEventType
  ended?: OperatorEventType
  subject: string
  data: Record<string, Json>
}
