const RESTORE_ON = ['SIGTERM', 'SIGHUP'] as const;
const EXIT_BY_SIGNAL: Record<(typeof RESTORE_ON)[number], number> = { SIGTERM: 143, SIGHUP: 129 };

/** Sends keys through as they are typed while the work lasts; the terminal is restored however it ends. */
export async function withRawMode<T>(work: () => Promise<T>): Promise<T> {
  const restore = () => process.stdin.setRawMode(false);
  const leave = (signal: (typeof RESTORE_ON)[number]) => {
    restore();
    process.exit(EXIT_BY_SIGNAL[signal]);
  };
  process.on('exit', restore);
  for (const signal of RESTORE_ON) process.on(signal, leave);
  process.stdin.setRawMode(true);
  try {
    return await work();
  } finally {
    restore();
    process.off('exit', restore);
    for (const signal of RESTORE_ON) process.off(signal, leave);
  }
}
