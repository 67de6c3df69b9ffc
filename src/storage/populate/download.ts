/**
 * Most bytes that are kept beside a file while it is filled: a qcow2 is downloaded whole, and then converted. scripts/image.sh refuses
 * one that has more.
 * @param format of the Image, if it is one
 * @param sizeBytes of the volume
 */
export const downloadBytes = (format: string | undefined, sizeBytes: bigint): bigint =>
  format === 'qcow2' ? sizeBytes + sizeBytes / 64n + 16_777_216n : 0n;
