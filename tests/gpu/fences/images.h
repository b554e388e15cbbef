/* Machine code of forms: what ptxas made, or what the driver makes of PTX, alone or by its linker. */
#ifndef FENCES_IMAGES_H
#define FENCES_IMAGES_H

#include "driver.h"

/*
 * Loads FOLDER/FILE.MODE.cubin, or FILE.MODE.ptx: with the driver's linker for the modes `linked` and `relay`, as an executor does, which keeps
 * its code until the program ends. Returns 0 if there is neither. Ends the program where one cannot be loaded.
 */
int image_load(CUmodule *module, const char *folder, const char *file, const char *mode);

/* Whether code of a mode is the original's, without fences. */
int image_is_original(const char *mode);

#endif
