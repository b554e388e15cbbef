package io.tessera.device.violation;

import io.tessera.guardian.image.ImageKind;

/** The port may not know what is used beside it. */
public final class KnowsAnAllocator {
    /** Uses it. */
    public ImageKind it() {
        return ImageKind.values()[0];
    }
}
