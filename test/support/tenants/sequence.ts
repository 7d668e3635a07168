import fc from 'fast-check';
import type { WireResponse } from '../wire.ts';
import { type Action, actions, type Context, type Kind } from './actions.ts';
import type { Tenant } from './tenant.ts';

/** One thing that one of two tenants does. */
export interface Step {
  readonly who: 0 | 1;
  /** The name of an action. */
  readonly does: string;
  /** Whose thing it names. */
  readonly aim: 'own' | 'foreign' | 'nothing';
  readonly pick: number;
  readonly bySession: boolean;
  /** The other one does the same next. */
  readonly isEchoed: boolean;
}

/** Steps; what they name is chosen when they are done, out of what is there then. */
export const step: fc.Arbitrary<Step> = fc.record({
  who: fc.constantFrom<0 | 1>(0, 1),
  does: fc.constantFrom(...actions.keys()),
  aim: fc.constantFrom('own', 'foreign', 'foreign', 'nothing'),
  pick: fc.nat(5),
  bySession: fc.boolean(),
  isEchoed: fc.boolean(),
});

const NOTHING: Readonly<Record<Kind, string>> = {
  key: 'key_00000000000000000000000000',
  invitation: 'inv_00000000000000000000000000',
  sandbox: 'sbx_00000000000000000000000000',
  user: 'usr_00000000000000000000000000',
  tenant: 'org_00000000000000000000000000',
};

/** Does steps in their order; those that are echoed are done by the other tenant too. */
export async function doSteps(
  steps: readonly Step[],
  tenants: readonly [Tenant, Tenant],
  run: string,
): Promise<void> {
  for (const one of steps) {
    await doStep(one, tenants, run);
    if (one.isEchoed) await doStep({ ...one, who: one.who === 0 ? 1 : 0 }, tenants, run);
  }
}

/** Does a step and throws when it shows or reaches anything of the other tenant. */
async function doStep(
  { who, does, aim, pick, bySession }: Step,
  tenants: readonly [Tenant, Tenant],
  run: string,
): Promise<void> {
  const [tenant, other] = who === 0 ? tenants : [tenants[1], tenants[0]];
  const context = { tenant, other, run, pick };
  const action = actions.get(does);
  if (!action) throw new Error(`nobody knows how to ${does}`);
  const id = action.names ? choose(action.names, aim, context) : '';
  const ask = { ...action.ask(id, context), bySession };
  const response = await tenant.ask(ask);
  const said = `${ask.target} ${JSON.stringify(ask.body ?? '')}`;
  expectNothingOf(other, response, said);
  const isForeign = action.names !== undefined && aim === 'foreign' && id !== NOTHING[action.names];
  if (isForeign) await expectLikeNothing(action, id, response, context, bySession);
  else if (response.status === 200 || response.status === 503)
    await action.learn?.(tenant, response, id, context);
}

function choose(kind: Kind, aim: Step['aim'], { tenant, other, pick }: Context): string {
  if (aim === 'nothing') return NOTHING[kind];
  const own = thingsOf(kind, tenant);
  const candidates = aim === 'own' ? own : thingsOf(kind, other).filter((id) => !own.includes(id));
  return candidates[pick % candidates.length] ?? NOTHING[kind];
}

function thingsOf(kind: Kind, tenant: Tenant): readonly string[] {
  switch (kind) {
    case 'key':
      return [...tenant.keys.keys()];
    case 'invitation':
      return [...tenant.invitations.keys()];
    case 'sandbox':
      return [...tenant.sandboxes.values()].flatMap(({ id, sessionId }) => [id, sessionId]);
    case 'user':
      return [tenant.userId];
    case 'tenant':
      return [tenant.id];
  }
}

/** What the request said itself may come back. */
function expectNothingOf(other: Tenant, { status, text }: WireResponse, said: string): void {
  const secrets = other.secrets();
  const shown = secrets
    .filter((secret) => said.includes(secret))
    .reduce((left, one) => left.replaceAll(one, ''), text);
  const leak = secrets.find((secret) => shown.includes(secret));
  if (leak !== undefined)
    throw new Error(`${said} answered ${status} and shows ${leak} of ${other.name}: ${text}`);
}

/** A thing of the other tenant must be as if it did not exist, to the letter. */
async function expectLikeNothing(
  action: Action,
  id: string,
  response: WireResponse,
  context: Context,
  bySession: boolean,
): Promise<void> {
  const nothing = NOTHING[action.names ?? 'key'];
  const twin = await context.tenant.ask({ ...action.ask(nothing, context), bySession });
  const [seen, wanted] = [withoutId(response, id), withoutId(twin, nothing)];
  if (seen === wanted) return;
  throw new Error(
    `${action.name}: a thing of ${context.other.name} is told from nothing:\n${seen}\n${wanted}`,
  );
}

function withoutId({ status, text }: WireResponse, id: string): string {
  return `${status} ${text.replaceAll(id, 'ID').replace(/"requestId":"[^"]*"/, '')}`;
}
