/** The body of a share. A start loads this; the answers load with the reference. */
import { sectionNames } from '../../../verify/receipt.ts'
import * as t from '../../../web/http/shape.ts'

export const textNames = ['input', 'output'] as const

const visibilities = ['private', 'unlisted', 'public'] as const

export const visibility = t.oneOf(
  'Who may see it: `unlisted` is for anyone with the id.',
  visibilities,
)

const texts = t.closed('', { value: t.anything('The text.', { model: 'counterfoil/echo-1' }) })

export const shareBody = t.body('ShareWish', 'How a receipt is to be shown.', {
  visibility,
  'sections?': t.list(t.oneOf('A section.', sectionNames), 'Default: run, charge, passport.', {
    uniqueItems: true,
    examples: [['run', 'charge']],
  }),
  'reveal?': t.list(t.oneOf('A text.', textNames), 'Default: none.', {
    uniqueItems: true,
    examples: [[]],
  }),
  'disclosures?': t.closed(
    'Texts to reveal, where they are not kept.',
    { 'input?': texts, 'output?': texts },
    { examples: [{}] },
  ),
})
