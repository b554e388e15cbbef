/* A message about CUDA_VISIBLE_DEVICES. */
#ifndef TESSERA_VISIBLE_DEVICES_H
#define TESSERA_VISIBLE_DEVICES_H

/* To be called if the program sees no device: if CUDA_VISIBLE_DEVICES is the reason, says so once. Any thread. */
void visible_devices_say_none(void);

#endif
