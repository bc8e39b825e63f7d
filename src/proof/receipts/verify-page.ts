/** The offline verifier: one HTML file that checks receipts without a connection. */
import { embedVerifyPage } from '../../browser/verify-page.macro.ts' with { type: 'macro' }

export const verifyPage: string = embedVerifyPage()
