import type { Container } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { Box, BoxSpec, BoxState, ImageInfo, Limits } from '../driver.ts';
import { BoxFolder, type BoxRecord } from './box-folder.ts';
import { containerConfig, engineLimits } from './container-config.ts';
import { type Engine, engineMessage, hasStatus, withEngine } from './engine.ts';
import type { Images } from './image.ts';
import { checkId, INSTANCE_LABEL, type Names, SANDBOX_LABEL } from './names.ts';
import { type InstanceNetwork, NO_NETWORK } from './network.ts';
import { untilReady } from './ready.ts';

const STOP_GRACE_SECONDS = 1;

/** A box that commands can be run in. */
export interface OpenBox {
  readonly id: string;
  readonly container: Container;
  readonly record: BoxRecord;
  readonly folder: BoxFolder;
}

/** Makes, starts, stops, finds and removes the containers of an instance. */
export class Boxes {
  private cores: Promise<number> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly names: Names,
    private readonly dataDir: string,
    private readonly images: Images,
    private readonly network: InstanceNetwork,
  ) {}

  async create(spec: BoxSpec): Promise<Box> {
    checkId('id', spec.id);
    const image = await this.images.prepare(spec.image);
    return withEngine(spec.id, async () => {
      const [cores, network] = await Promise.all([this.coreCount(), this.networkFor(spec)]);
      const { exchange } = this.folder(spec.id);
      const record = recordOf(spec, image);
      const parts = {
        names: this.names,
        spec,
        imageId: image.id,
        workDir: record.workDir,
        network,
        exchange,
        cores,
      };
      const made = await this.engine.client.createContainer(containerConfig(parts)).catch((error) => {
        throw hasStatus(error, 409) ? fail('already_exists', { what: 'box', id: spec.id }) : error;
      });
      try {
        await this.folder(spec.id).write(record);
        await untilReady(made, spec.image);
      } catch (error) {
        await this.remove(spec.id);
        throw error;
      }
      return { id: spec.id, containerId: made.id, image };
    });
  }

  /** Starts a stopped box with the environment, limits and network of `spec`; one that runs stays as it is. */
  async start(id: string, spec: BoxSpec): Promise<Box> {
    return withEngine(id, async () => {
      const info = await this.container(id).inspect();
      const folder = this.folder(id);
      const image = (await folder.read())?.image ?? (await this.images.prepare(spec.image));
      if (!info.State.Running) {
        const network = await this.networkFor(spec);
        await this.network.move(info.Id, Object.keys(info.NetworkSettings.Networks), network);
        await this.update(id, spec.limits);
        await folder.write(recordOf(spec, image));
        await untilReady(this.engine.client.getContainer(info.Id), spec.image);
      }
      return { id, containerId: info.Id, image };
    });
  }

  async stop(id: string): Promise<void> {
    await withEngine(id, async () => {
      try {
        await this.container(id).stop({ t: STOP_GRACE_SECONDS });
      } catch (error) {
        if (!hasStatus(error, 304)) throw error;
      }
    });
  }

  async remove(id: string): Promise<void> {
    checkId('id', id);
    await withEngine(id, async () => {
      try {
        await this.container(id).remove({ force: true, v: true });
      } catch (error) {
        if (hasStatus(error, 409) && /already in progress/.test(engineMessage(error)))
          await this.untilGone(id);
        else if (!hasStatus(error, 404)) throw error;
      }
      await this.folder(id).remove();
    });
  }

  async inspect(id: string): Promise<BoxState> {
    checkId('id', id);
    return withEngine(id, async () => {
      try {
        const { Id: containerId, State: state } = await this.container(id).inspect();
        return { id, containerId, state: state.Running ? 'running' : 'stopped' };
      } catch (error) {
        if (hasStatus(error, 404)) return { id, containerId: '', state: 'missing' };
        throw error;
      }
    });
  }

  async list(): Promise<BoxState[]> {
    const filters = { label: [`${INSTANCE_LABEL}=${this.names.instance}`] };
    const all = await withEngine('', () => this.engine.client.listContainers({ all: true, filters }));
    return all.map(({ Id: containerId, Labels: labels, State: state }) => ({
      id: labels[SANDBOX_LABEL] ?? '',
      containerId,
      state: state === 'running' || state === 'paused' ? 'running' : 'stopped',
    }));
  }

  async update(id: string, limits: Limits): Promise<void> {
    const cores = await this.coreCount();
    await withEngine(id, () => this.container(id).update(engineLimits(limits, cores)));
  }

  /** What is needed to run a command. Errors: not_found. */
  async open(id: string): Promise<OpenBox> {
    checkId('id', id);
    const folder = this.folder(id);
    const record = await folder.read();
    if (!record) throw fail('not_found', { what: 'box', id });
    return { id, container: this.container(id), record, folder };
  }

  /** The engine's handle of a box, whether it exists or not. */
  container(id: string): Container {
    return this.engine.client.getContainer(this.names.container(id));
  }

  private folder(id: string): BoxFolder {
    return new BoxFolder(this.dataDir, id);
  }

  private async networkFor({ network }: BoxSpec): Promise<string> {
    return network === 'deny' ? NO_NETWORK : this.network.ready();
  }

  private coreCount(): Promise<number> {
    this.cores ??= this.engine.client.info().then(({ NCPU: count }) => count as number);
    this.cores.catch(() => {
      this.cores = undefined;
    });
    return this.cores;
  }

  private async untilGone(id: string): Promise<void> {
    await this.container(id)
      .wait({ condition: 'removed' })
      .catch(() => {});
  }
}

function recordOf({ env, workDir }: BoxSpec, image: ImageInfo): BoxRecord {
  return { image, env, workDir: workDir ?? image.workDir };
}
