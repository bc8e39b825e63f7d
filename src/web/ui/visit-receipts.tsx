/** The list that stubs of runs drop into. */

/** Filled by script alone, so it is not there without; its place is kept from the start. */
export const VisitReceipts = () => (
  <ol class="stubs bare scripted" id="stubs" aria-label="Receipts of this visit" tabindex="0">
    <li class="none quiet">Each answer leaves its receipt here.</li>
  </ol>
)
