import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** The shell is Chromium without windows: the same pages for half the processor's time. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const executablePath =
  process.env['CHROMIUM'] ?? installed.find((path) => existsSync(path)) ?? '/usr/bin/chromium'

/** Whether this machine has no browser; scripts/test.sh says how to get one. */
export const noChromium = !existsSync(executablePath)

/** A real browser that talks to no one by itself. Close it when done. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // A page and the blank one before it take one process, not one after the other.
      '--renderer-process-limit=1',
      // The shell rounds the widths of glyphs otherwise.
      '--font-render-hinting=none',
    ],
  })
