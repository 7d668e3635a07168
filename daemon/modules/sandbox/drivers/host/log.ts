/** Where a driver tells what it does; the fields hold no secrets. */
export type HostLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;
