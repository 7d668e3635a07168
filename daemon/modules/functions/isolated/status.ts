import type { OwnSandboxes } from '../../sandbox/index.ts';

/** Whether code can run in isolation here, and on what. */
export interface IsolationStatus {
  readonly available: boolean;
  /** The engine's socket, where sandboxes are docker's; empty elsewhere. */
  readonly dockerHost: string;
  readonly message: string;
}

/** Asks the backend of the sandboxes: what it lacks is told. */
export async function isolationStatus(own: OwnSandboxes, dockerHost: string): Promise<IsolationStatus> {
  const { usable, findings } = await own.probe();
  const lacks = findings.filter(({ status }) => status === (usable ? 'degraded' : 'missing'));
  const why = lacks.map(({ check, message }) => `${check}: ${message}`).join('; ');
  const message = usable
    ? `Code runs in sandboxes of the ${own.driver} driver${why ? `, with less: ${why}` : '.'}`
    : `The ${own.driver} driver cannot make sandboxes here: ${why || 'see svc doctor'}`;
  return { available: usable, dockerHost: own.driver === 'docker' ? dockerHost : '', message };
}
