/* SHA-256 (FIPS 180-4) of a file, so that a library is checked as it lies on disk, at the speed of C. */
#ifndef TESSERA_AGENT_SHA256_H
#define TESSERA_AGENT_SHA256_H

#define SHA256_HEX_SIZE 65 /* 64 digits and a NUL */

/* Writes the hash of the file's bytes in small hexadecimal digits. Returns 0, or -errno of opening or reading it. */
int sha256_of_file(const char *path, char hex[SHA256_HEX_SIZE]);

#endif
