import type { Client } from './client.ts';

/** Path of the custom resources of disk-crd.ts. */
export const DISKS = '/apis/example.com/v1/disks';
export const MERGE = { 'content-type': 'application/merge-patch+json' };

export const disk = (name: string, metadata: object = {}, spec: object = { nodeName: 'n1' }) => ({
  apiVersion: 'example.com/v1',
  kind: 'Disk',
  metadata: { name, ...metadata },
  spec,
});

/** Creates a disk. @returns the created object */
export async function post(client: Client, name: string, metadata: object = {}) {
  const { code, body } = await client.request('POST', DISKS, disk(name, metadata));
  if (code !== 201) throw new Error(`${code} ${body.message}`);
  return body;
}

export const names = (list: { items: { metadata: { name: string } }[] }) =>
  list.items.map(({ metadata }) => metadata.name);
