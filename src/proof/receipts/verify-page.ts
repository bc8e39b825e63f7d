import { embedVerifyPage } from '../../browser/verify-page.macro.ts' with { type: 'macro' }

/** One HTML file that checks receipts in any browser and asks nobody. */
export const verifyPage: string = embedVerifyPage()
