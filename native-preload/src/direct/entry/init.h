/* The direct port: sets the handlers by which lower layers call upper ones. */
#ifndef TESSERA_ENTRY_INIT_H
#define TESSERA_ENTRY_INIT_H

/* To be called once, before the first call of an entry of the port. Makes no driver call, and starts no thread. */
void direct_prepare(void);

#endif
