/* PTX with the kernel that the scripted driver runs itself: an executor reads an image before any driver does. */
#ifndef SCRIPTED_IMAGE_H
#define SCRIPTED_IMAGE_H

#define SCRIPTED_IMAGE                                                                                                 \
    ".version 8.0\n.target sm_50\n.address_size 64\n"                                                                  \
    ".visible .entry scripted_fill(.param .u64 memory, .param .u32 number, .param .u64 count)\n"                       \
    "{\n ret;\n}\n"

#endif
