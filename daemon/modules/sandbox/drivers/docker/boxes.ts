import type { Container } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { Box, BoxSpec, BoxState, ImageInfo, Limits } from '../driver.ts';
import { BoxFolder, type BoxRecord } from './box-folder.ts';
import { containerConfig, type EngineHost, engineLimits } from './container-config.ts';
import { type Engine, engineMessage, hasStatus, withEngine } from './engine.ts';
import type { Images } from './image.ts';
import { checkId, INSTANCE_LABEL, type Names, SANDBOX_LABEL } from './names.ts';
import { type InstanceNetwork, NO_NETWORK } from './network.ts';
import { untilReady } from './ready.ts';

const STOP_GRACE_SECONDS = 1;

interface EngineInfo {
  readonly NCPU: number;
  readonly SecurityOptions?: readonly string[];
}

/** A box that commands can be run in. */
export interface OpenBox {
  readonly id: string;
  readonly container: Container;
  readonly record: BoxRecord;
  readonly folder: BoxFolder;
}

/** What boxes are made with. */
export interface BoxParts {
  readonly engine: Engine;
  readonly names: Names;
  readonly dataDir: string;
  readonly images: Images;
  readonly network: InstanceNetwork;
  /** Told of each box that this process started. */
  readonly onStart: (id: string) => void;
}

/** Makes, starts, stops, finds and removes the containers of an instance. */
export class Boxes {
  private host: Promise<EngineHost> | undefined;

  constructor(private readonly parts: BoxParts) {}

  async create(spec: BoxSpec): Promise<Box> {
    const image = await this.parts.images.prepare(spec.image);
    return withEngine(spec.id, async () => {
      const [host, network] = await Promise.all([this.engineHost(), this.networkFor(spec)]);
      const { exchange } = this.folder(spec.id);
      const record = recordOf(spec, image);
      const parts = {
        names: this.parts.names,
        spec,
        imageId: image.id,
        workDir: record.workDir,
        network,
        exchange,
        host,
      };
      const made = await this.parts.engine.client.createContainer(containerConfig(parts)).catch((error) => {
        throw hasStatus(error, 409) ? fail('already_exists', { what: 'box', id: spec.id }) : error;
      });
      try {
        await this.folder(spec.id).write(record);
        await untilReady(made, spec.image);
        this.parts.onStart(spec.id);
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
      const image = (await folder.read())?.image ?? (await this.parts.images.prepare(spec.image));
      if (!info.State.Running) {
        const network = await this.networkFor(spec);
        await this.parts.network.move(info.Id, Object.keys(info.NetworkSettings.Networks), network);
        await this.update(id, spec.limits);
        await folder.write(recordOf(spec, image));
        await untilReady(this.parts.engine.client.getContainer(info.Id), spec.image);
        this.parts.onStart(id);
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
    const filters = { label: [`${INSTANCE_LABEL}=${this.parts.names.instance}`] };
    const all = await withEngine('', () => this.parts.engine.client.listContainers({ all: true, filters }));
    return all.map(({ Id: containerId, Labels: labels, State: state }) => ({
      id: labels[SANDBOX_LABEL] ?? '',
      containerId,
      state: state === 'running' || state === 'paused' ? 'running' : 'stopped',
    }));
  }

  async update(id: string, limits: Limits): Promise<void> {
    const { cores } = await this.engineHost();
    await withEngine(id, () => this.container(id).update(engineLimits(limits, cores)));
  }

  /** What is needed to run a command. Errors: not_found. */
  async open(id: string): Promise<OpenBox> {
    const folder = this.folder(id);
    const record = await folder.read();
    if (!record) throw fail('not_found', { what: 'box', id });
    return { id, container: this.container(id), record, folder };
  }

  /** The engine's handle of a box, whether it exists or not. */
  container(id: string): Container {
    return this.parts.engine.client.getContainer(this.parts.names.container(id));
  }

  private folder(id: string): BoxFolder {
    checkId('id', id);
    return new BoxFolder(this.parts.dataDir, id);
  }

  private async networkFor({ network }: BoxSpec): Promise<string> {
    return network === 'deny' ? NO_NETWORK : this.parts.network.ready();
  }

  private engineHost(): Promise<EngineHost> {
    this.host ??= this.askHost().catch((error) => {
      this.host = undefined;
      throw error;
    });
    return this.host;
  }

  private async askHost(): Promise<EngineHost> {
    const { NCPU: cores, SecurityOptions: options } = (await this.parts.engine.client.info()) as EngineInfo;
    return { cores, filtersCalls: (options ?? []).some((option) => option.includes('seccomp')) };
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
