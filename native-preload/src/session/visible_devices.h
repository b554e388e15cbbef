/* What CUDA_VISIBLE_DEVICES leaves of the devices. */
#ifndef TESSERA_VISIBLE_DEVICES_H
#define TESSERA_VISIBLE_DEVICES_H

/* Says once that the list names no device of this machine, where that is why there is none. Any thread. */
void visible_devices_say_none(void);

#endif
