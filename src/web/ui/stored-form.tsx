/** The end of a page that shows a secret once: go on after confirming that it is stored. */
import { Button } from './button.tsx'

export const StoredForm = ({ action }: { action: string }) => (
  <form class="row apart" method="get" action={action} autocomplete="off">
    <label class="check">
      <input type="checkbox" required />
      <span>I have stored it somewhere safe</span>
    </label>
    <Button look="go">Done</Button>
  </form>
)
