import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executable = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

export const noChromium = !existsSync(executable)
if (noChromium) console.warn('left out: pages in a real browser (apt-get install chromium)')

/** A real browser that talks to nobody by itself. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
