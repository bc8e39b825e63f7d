/**
 * The script of every page beside htmx: times that stay true, copy buttons, side panels, toasts,
 * requests without an answer, forms of an ended session, rows by keys, the command palette, the
 * account of the wallet and a balance that rolls.
 */
import { rollBalance } from './balance.ts'
import { watchWallet } from './chosen-wallet.ts'
import { keepForms } from './kept-forms.ts'
import { tellLostRequests } from './lost-requests.ts'
import { listenForPalette } from './palette-key.ts'
import { walkRows } from './rows.ts'
import { openSidePanels } from './side-panel.ts'
import { keepTimes } from './times.ts'
import { dropToasts } from './toasts.ts'

keepTimes()
openSidePanels()
dropToasts()
tellLostRequests()
keepForms()
listenForPalette()
walkRows()
watchWallet()
rollBalance()

// Without script a click selects the value.
document.addEventListener('click', async (event) => {
  const button =
    event.target instanceof Element ? event.target.closest('[data-copy], [data-text]') : null
  if (!(button instanceof HTMLElement)) return
  const own = button.dataset['text']
  if (own !== undefined) {
    await navigator.clipboard.writeText(own)
    button.classList.add('done')
    setTimeout(() => button.classList.remove('done'), 2000)
    return
  }
  const label = button.querySelector('[data-label]') ?? button
  const before = label.textContent
  try {
    await navigator.clipboard.writeText(textToCopy(button))
    label.textContent = 'Copied'
  } catch {
    label.textContent = 'Select it and copy'
  }
  setTimeout(() => {
    label.textContent = before
  }, 2000)
})

/** The text of the element that `data-copy` names or of the `pre` beside, or the page's address. */
function textToCopy(button: HTMLElement): string {
  const id = button.dataset['copy']
  if (id === 'pre') return button.parentElement?.querySelector('pre')?.textContent ?? ''
  return (id ? document.getElementById(id)?.textContent : location.href) ?? ''
}
