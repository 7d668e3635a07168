import type { Caller } from '../../../http/route.ts';
import type { MemoryScope } from './face.ts';

/** Memories that are shared by the same ones. */
export interface Shelf {
  readonly scope: MemoryScope;
  /** Id of the agent or of the user; empty where the tenant shares it. */
  readonly owner: string;
}

/** Whose memories are asked for: an agent's, on behalf of a caller. */
export interface Party {
  readonly agentId: string;
  readonly userId: string;
}

const REACH: Readonly<Record<MemoryScope, readonly MemoryScope[]>> = {
  agent: ['agent'],
  user: ['agent', 'user'],
  global: ['agent', 'user', 'global'],
};

/** The user that memories belong to: a person, or a key where no person calls. */
export function userOf({ userId, actor }: Caller): string {
  return userId ?? actor;
}

/** The shelf that a memory of a scope stands on. */
export function shelfOf(scope: MemoryScope, { agentId, userId }: Party): Shelf {
  return { scope, owner: { agent: agentId, user: userId, global: '' }[scope] };
}

/** Whether an agent of a scope may use memories of another. */
export function reaches(own: MemoryScope, scope: MemoryScope): boolean {
  return REACH[own].includes(scope);
}

/** The shelves that an agent of this scope looks at. */
export function shelvesWithin(scope: MemoryScope, party: Party): Shelf[] {
  return REACH[scope].map((each) => shelfOf(each, party));
}
