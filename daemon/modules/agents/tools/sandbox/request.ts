import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../../src/kit/time.ts';
import type { WorkSandboxes } from '../../../sandbox/index.ts';
import type { Agent } from '../../definitions/agent.ts';

type CreateRequest = Parameters<WorkSandboxes['create']>[1];

/** A sandbox that nobody uses sleeps after this, and is woken by the next call. */
const IDLE_SECONDS = (30 * MINUTE_MS) / SECOND_MS;
/** One of a session that nobody came back to is deleted; the files of a persistent agent stay. */
const FORGOTTEN_DAYS = (30 * DAY_MS) / DAY_MS;
const SHORT_ID = 8;
const NAME_PART = 40;

/** The key under which the sandbox of a session is found again: derived, so that no crash can lose it. */
export function sandboxKey({ id, config }: Agent, sessionId: string): string {
  return config.lifecycle === 'persistent' ? `agent-sandbox ${id}` : `session-sandbox ${sessionId}`;
}

/** What the sandbox of a session is made of. */
export function sandboxRequest(agent: Agent, sessionId: string): CreateRequest {
  const { sandbox, lifecycle } = agent.config;
  const owner = lifecycle === 'persistent' ? agent.id : sessionId;
  return {
    name: `${nameable(agent.name)}-${owner.slice(-SHORT_ID)}`,
    sessionId,
    image: sandbox.image,
    templateId: sandbox.template,
    cpuLimit: sandbox.cpuLimit,
    memoryMb: textOf(sandbox.memoryMb),
    diskMb: textOf(sandbox.diskMb),
    timeoutSeconds: sandbox.timeoutSeconds,
    networkMode: sandbox.networkMode as CreateRequest['networkMode'],
    envVars: { ...sandbox.env },
    idleRetentionSeconds: IDLE_SECONDS,
    autoDeleteAfterDays: lifecycle === 'persistent' ? -1 : FORGOTTEN_DAYS,
    labels: { 'svc.agent': agent.id, 'svc.session': sessionId },
  };
}

function textOf(count: number | undefined): string | undefined {
  return count === undefined ? undefined : String(count);
}

/** What of a name the name of a sandbox may hold. */
function nameable(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_PART)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'agent' : slug;
}
