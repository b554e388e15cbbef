/*
 * Bounds outstanding work by the time that a drain would take (tessera_device.pace_ns), while another client waits for
 * the device. In each stream, an event marks every `window` submissions, and a submitting thread waits for the last
 * marker but one. The window follows the measured time between markers: two windows take about the bound.
 */
#ifndef TESSERA_PACE_H
#define TESSERA_PACE_H

#include <stdint.h>

/* What gate_pass.pace carries for a submission to the stream of the device. */
uintptr_t pace_ticket(unsigned device, uintptr_t stream);

/* A paced submission has returned from the driver. May wait for earlier work of the same stream. */
void pace_submission(uintptr_t ticket);

/* A context of the device has ended: its markers died with it. */
void pace_forget(unsigned device);

/* In the child of a fork. */
void pace_forked(void);

#endif
