import { writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { selfSigned } from '../../../src/sandbox/certificate.ts';
import { freePorts } from '../../support/free-ports.ts';
import { startHttpProxy } from '../../support/proxies.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startPart } from '../part.ts';
import type { KubeletServer } from './kubelet.ts';
import type { Vm } from './vm.ts';

/**
 * An API server as the only client of the kubelet of a VM. It connects by a proxy, as to nodes of
 * another network, and that by ssh.
 */
export interface KubeletClient {
  apiServerFlags: readonly string[];
  server: KubeletServer;
  /** Opens the way to the kubelet's port. */
  forward(vm: Vm): Promise<void>;
  stop(): Promise<void>;
}

export async function newKubeletClient(): Promise<KubeletClient> {
  const { path, remove } = await temporaryDirectory('kubelet-client');
  const stops = [remove];
  const { key, cert } = selfSigned(new Date());
  const [keyFile, certFile] = [join(path, 'client.key'), join(path, 'client.crt')] as const;
  const egressFile = join(path, 'egress.yaml');
  await writeFile(keyFile, key, { mode: 0o600 });
  await writeFile(certFile, cert);
  const [port = 0] = await freePorts(1);
  // kube-apiserver 1.36.3 ends with a panic for a port without TLS.
  const socket = join(path, 'proxy');
  const proxy = await startHttpProxy({ path: socket });
  stops.push(proxy.stop);
  await writeFile(egressFile, stringify(egress(socket)));
  return {
    apiServerFlags: [
      `--kubelet-client-certificate=${certFile}`,
      `--kubelet-client-key=${keyFile}`,
      '--kubelet-preferred-address-types=InternalIP',
      `--egress-selector-config-file=${egressFile}`,
    ],
    server: { port, clientCa: cert },
    async forward({ name, configFile }) {
      const way = [`-L127.0.0.1:${port}:127.0.0.1:${port}`, '-oExitOnForwardFailure=yes'];
      const forwarder = await startPart({
        name: 'kubelet-forwarder',
        argv: ['ssh', '-F', configFile, '-N', ...way, name],
        folder: path,
        ready: () => accepts(port),
      });
      stops.push(forwarder.stop);
    },
    async stop() {
      for (const stop of stops.splice(0).reverse()) await stop();
    },
  };
}

const egress = (udsName: string) => ({
  apiVersion: 'apiserver.k8s.io/v1beta1',
  kind: 'EgressSelectorConfiguration',
  egressSelections: [
    {
      name: 'cluster',
      connection: {
        proxyProtocol: 'HTTPConnect',
        transport: { uds: { udsName } },
      },
    },
  ],
});

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
