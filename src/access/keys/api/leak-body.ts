/** The body and the answer of a leak report. */
import * as t from '../../../web/http/shape.ts'

export const leakBody = t.body('LeakWish', 'A secret that was found where it should not be.', {
  secret: t.text('It, whole. Any text is answered alike.', 'sk-service-…', { maxLength: 2000 }),
})

export const leakShape = t.answer('LeakReport', 'The same for every report.', {
  object: t.only('leak_report'),
  status: t.only('received'),
})
