#ifndef SYNC_H
#define SYNC_H

#include "tessera_entries.h"

struct sync_pass {
    int ticket;
};

struct sync_pass sync_enter(void);
void sync_leave(struct sync_pass pass, CUresult result);

#endif
