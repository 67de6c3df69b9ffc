/**
 * Returns the most bytes kept beside a file while it is populated: a qcow2 is downloaded whole, and
 * then converted. scripts/image.sh refuses a larger one.
 * @param format format of the Image, if the source is one
 * @param sizeBytes size of the volume
 */
export const downloadBytes = (format: string | undefined, sizeBytes: bigint): bigint =>
  format === 'qcow2' ? sizeBytes + sizeBytes / 64n + 16_777_216n : 0n;
