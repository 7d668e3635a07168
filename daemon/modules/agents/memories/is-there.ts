import { AppError } from '../../../../src/errors/app-error.ts';
import type { Agents } from '../definitions/agent.ts';

/** Whether a tenant has an agent of this id. */
export function isThere(agents: Agents, tenant: string, id: string): boolean {
  try {
    agents.get(tenant, id);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return false;
    throw error;
  }
}
