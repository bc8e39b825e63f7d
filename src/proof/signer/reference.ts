/** Reference entry of the signer. */
import * as r from '../../web/reference/entry.ts'
import { signerShape } from './shapes.ts'

export const signerEntry = r.entriesUnder('/v1').get('showSigner', '/signer', 'Who signs', {
  about: 'Learn it once, from somewhere you trust, and check receipts against it.',
  answers: r.ok('The signer.', signerShape),
})
