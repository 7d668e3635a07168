import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { Config } from '../../../config/config.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { Sandbox } from '../tables.ts';
import { checkLimits, type SandboxConfig } from './config.ts';
import type { LifecycleService } from './service.ts';
import { allows, wrongState } from './states.ts';

const MIB = 1024 * 1024;

/** The limits that a sandbox is to have; what is absent stays. */
export interface NewLimits {
  readonly cpu?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
}

/** Changes the limits of sandboxes: of running ones at once, of sleeping ones when they wake. */
export class Resizing {
  constructor(
    private readonly lifecycle: LifecycleService,
    private readonly driver: SandboxDriver,
    private readonly config: Config,
  ) {}

  /** Errors: sandbox_not_found, sandbox_wrong_state, invalid_argument, failed_precondition (it uses more memory). */
  resize(tenant: string, idOrName: string, limits: NewLimits): Promise<Sandbox> {
    return this.lifecycle.exclusively(tenant, idOrName, async (row) => {
      const config = this.newConfig(row.config, limits);
      if (!allows('resize', row.state)) throw wrongState(row.id, row.state, 'resize');
      if (row.state === 'running') await this.apply(row, config);
      this.lifecycle.settle(
        row,
        row.state,
        { config },
        {
          type: 'resized',
          message: `${config.cpu} cores and ${config.memoryMb} MB`,
          metadata: { cpu: config.cpu, memoryMb: config.memoryMb, diskMb: config.diskMb },
        },
      );
      return { ...row, config };
    });
  }

  private newConfig(now: SandboxConfig, { cpu, memoryMb, diskMb }: NewLimits): SandboxConfig {
    if (cpu === undefined && memoryMb === undefined && diskMb === undefined)
      throw invalid({ field: 'cpuLimit', description: 'memoryMb or diskMb is required' });
    const config = {
      ...now,
      cpu: cpu ?? now.cpu,
      memoryMb: memoryMb ?? now.memoryMb,
      diskMb: diskMb ?? now.diskMb,
    };
    const [first, ...rest] = checkLimits(config, this.config);
    if (first) throw invalid(first, ...rest);
    return config;
  }

  /** A limit below what is in use would have the kernel kill something inside. */
  private async apply(row: Sandbox, config: SandboxConfig): Promise<void> {
    if (config.memoryMb < row.config.memoryMb) {
      const used = Math.ceil((await this.driver.stats(row.id)).memoryBytes / MIB);
      if (used > config.memoryMb)
        throw fail('failed_precondition', {
          message: `The sandbox uses ${used} MB now; it cannot be limited to ${config.memoryMb} MB.`,
        });
    }
    await this.driver.update(row.id, this.lifecycle.boxSpec(row.id, config).limits);
  }
}
