/* Machine code of forms: what ptxas made, or what the driver makes of PTX, alone, by its linker or as a library. */
#ifndef FENCES_IMAGES_H
#define FENCES_IMAGES_H

#include "driver.h"

/*
 * Loads FOLDER/FILE.MODE.cubin, or FILE.MODE.ptx: with the driver's linker for the mode `linked`, whose code is kept until the program ends, and
 * as a library's module, which is how executors load fenced text, for the mode `relay`. `library`: that, NULL without one.
 * Returns 0 if there is neither. Ends the program where one cannot be loaded.
 */
int image_load(CUmodule *module, void **library, const char *folder, const char *file, const char *mode);

/* Ends what was loaded. */
void image_unload(CUmodule module, void *library);

/* Whether code of a mode is the original's, without fences. */
int image_is_original(const char *mode);

#endif
