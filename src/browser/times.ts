/** Keeps relative times true while a page is open, and says them in the reader's own zone. */
import { systemClock } from '../kernel/clock.ts'
import { bothTimes, exactTime, relativeMinute, relativeTime } from '../kernel/moment.ts'
import type { ZoneName } from '../kernel/zone.ts'

const times = () => [...document.querySelectorAll<HTMLTimeElement>('time[data-now]')]

/** The zone that the reader chose in the settings. */
export const chosenZone = (): ZoneName | undefined =>
  document.querySelector<HTMLElement>('[data-zone]')?.dataset['zone']

/** Begins to keep them. */
export function keepTimes(): void {
  // The server's time when it made the page; the reader's own clock may be wrong.
  const base = Math.max(0, ...times().map(({ dataset }) => Number(dataset['now'])))
  const openedAt = systemClock.now()
  const tick = (): void => {
    if (document.hidden) return
    const now = (base || openedAt) + systemClock.now() - openedAt
    for (const time of times()) say(time, now)
  }
  setInterval(tick, 1000)
  document.addEventListener('visibilitychange', tick)
  document.addEventListener('pointerover', ({ target }) => {
    const time = target instanceof Element ? target.closest('time[datetime]') : null
    if (time instanceof HTMLTimeElement) nameZone(time)
  })
}

function say(time: HTMLTimeElement, now: number): void {
  const at = Date.parse(time.dateTime)
  const words = time.dataset['minute'] === undefined ? relativeTime : relativeMinute
  const said = words(at, now, chosenZone())
  if (time.textContent !== said) time.textContent = said
}

/** The moment in UTC and in the zone that was chosen, else in that of the browser. */
function nameZone(time: HTMLTimeElement): void {
  const at = Date.parse(time.dateTime)
  // A day alone is the same day everywhere.
  if (Number.isNaN(at) || !time.dateTime.includes('T')) return
  const zone = chosenZone()
  if (zone !== undefined) {
    time.title = bothTimes(at, zone)
    return
  }
  const local = new Date(at).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'long' })
  time.title = `${exactTime(at)}\n${local}, local`
}
