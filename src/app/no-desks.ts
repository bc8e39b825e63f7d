/** The desks that change the configuration file, before anything reads that file again. */
export const noDesks = () => ({
  providers: { desk: undefined },
  setup: { desk: undefined },
  changes: { desk: undefined },
})
