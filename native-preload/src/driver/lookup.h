/* For cuGetProcAddress: replaces an address that the driver returned by that of our exported entry. */
#ifndef TESSERA_LOOKUP_H
#define TESSERA_LOOKUP_H

/* Our exported symbol for the entry with this address in the vendor's library; `address` itself if we export none. Any thread. */
void *lookup_substitute(void *address);

#endif
