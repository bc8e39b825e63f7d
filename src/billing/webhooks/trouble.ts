/** A trouble of the service that the operator is told about. */
import type { Json } from '../../kernel/canonical.ts'
import type { OperatorEventType } from '../../storage/outbox/event.ts'

/** A condition that is present or not. `began` is sent when it appears, `ended` when it is over. */
export type Trouble = {
  name: string
  isThere: boolean
  began: OperatorEventType
  ended?: OperatorEventType
  subject: string
  data: Record<string, Json>
}
