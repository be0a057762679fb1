/* SPDX-License-Identifier: MIT */
/*
 * image_folder.h - where the vDSO images are that belong to this program.
 */
#ifndef IMAGE_FOLDER_H
#define IMAGE_FOLDER_H

/* Next to the program, installed or in the tree it was built in; else where they are installed.
 * Never NULL; static text, until the next call. */
const char *image_folder(void);

#endif /* IMAGE_FOLDER_H */
