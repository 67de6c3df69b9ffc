import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { selfSigned } from '../../../src/sandbox/certificate.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Certificate by which an API server is the only client of a kubelet. */
export interface KubeletClient {
  apiServerFlags: readonly string[];
  /** File with the certificate, for the kubelet. It is its own CA. */
  clientCa: string;
  remove(): Promise<void>;
}

export async function newKubeletClient(): Promise<KubeletClient> {
  const { path, remove } = await temporaryDirectory('kubelet-client');
  const { key, cert } = selfSigned(new Date());
  const [keyFile, clientCa] = [join(path, 'client.key'), join(path, 'client.crt')] as const;
  await writeFile(keyFile, key, { mode: 0o600 });
  await writeFile(clientCa, cert);
  return {
    apiServerFlags: [
      `--kubelet-client-certificate=${clientCa}`,
      `--kubelet-client-key=${keyFile}`,
      '--kubelet-preferred-address-types=InternalIP',
    ],
    clientCa,
    remove,
  };
}
