import { startSshd } from '../support/sshd.ts';
import { ensureUdev } from '../support/udev.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startKubelet } from './kubelet/kubelet.ts';
import { flagsFor, startSalt } from './salt/salt.ts';
import { startVmNode } from './vm/kubelet-scene.ts';

/** A program that can run beside a control plane. */
export interface Extra {
  /** Description for the user who started it. */
  about: string;
  /** Flags of `stowage watch` for the connection to the node. */
  flags: readonly string[];
  stop(): Promise<void>;
}

/** Node name of this machine. */
const HOST = 'n1';
const VM = 'vm1';
export const NODES: readonly string[] = [HOST, VM];

export const extras: Readonly<Record<string, (controlPlane: ControlPlane) => Promise<Extra>>> = {
  async kubelet(controlPlane) {
    const undoUdev = await ensureUdev();
    const kubelet = await startKubelet(controlPlane, HOST).catch(async (error) => {
      await undoUdev();
      throw error;
    });
    const stop = async () => {
      await kubelet.stop();
      await undoUdev();
    };
    return { about: `this machine is the node ${HOST}`, flags: [], stop };
  },
  async sshd() {
    const sshd = await startSshd({ nodes: [HOST] });
    return {
      about: `sshd, for the node ${HOST}`,
      flags: ['--ssh-config', sshd.configFile],
      stop: sshd.stop,
    };
  },
  async salt() {
    const salt = await startSalt({ minions: [HOST] });
    return { about: `Salt, with the minion ${HOST}`, flags: flagsFor(salt), stop: salt.stop };
  },
  async vm(controlPlane) {
    const { reachedBy, stop } = await startVmNode(controlPlane, VM);
    const about = `a VM is the node ${VM}, with disks, partitions and the volume group vg0`;
    return { about, flags: reachedBy, stop };
  },
};
