/** Member of an archive; by default a file. */
export interface Member {
  name: string;
  type?:
    | 'file'
    | 'hard link'
    | 'symbolic link'
    | 'character device'
    | 'block device'
    | 'folder'
    | 'pipe'
    | 'unknown';
  /** Target of a link. */
  link?: string;
  data?: string | Buffer;
  mode?: number;
  /** Major and minor number. */
  device?: [number, number];
  /** Size in the header, instead of the length of `data`. Bytes. */
  size?: number;
  /** Extended header of POSIX 2001. Values are bytes as latin1. */
  pax?: Record<string, string>;
}

const TYPES = {
  file: '0',
  'hard link': '1',
  'symbolic link': '2',
  'character device': '3',
  'block device': '4',
  folder: '5',
  pipe: '6',
  unknown: 'Q',
};

/** Returns a tar archive with exactly these members, even if they are invalid. */
export function tarOf(members: readonly Member[], { end = true } = {}): Buffer {
  return Buffer.concat([...members.map(memberOf), ...(end ? [Buffer.alloc(1024)] : [])]);
}

function memberOf({ pax, ...member }: Member): Buffer {
  if (pax === undefined) return blocks(member, TYPES[member.type ?? 'file']);
  const records = Object.entries(pax).map(([key, value]) => record(` ${key}=${value}\n`));
  const data = Buffer.from(records.join(''), 'latin1');
  return Buffer.concat([blocks({ name: 'pax', data }, 'x'), memberOf(member)]);
}

/** A record begins with its length, including the digits of the length. */
function record(rest: string): string {
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length += 1;
  return `${length}${rest}`;
}

function blocks(
  { name, link = '', data = '', mode = 0o644, device = [0, 0], size }: Member,
  type: string,
) {
  const body = typeof data === 'string' ? Buffer.from(data) : data;
  const header = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  header.write(name, 0, 100, 'utf8');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size ?? body.length, 124, 12);
  octal(0, 136, 12);
  header.write('        ', 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(link, 157, 100, 'utf8');
  header.write('ustar\x0000', 257, 'latin1');
  octal(device[0], 329, 8);
  octal(device[1], 337, 8);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}
